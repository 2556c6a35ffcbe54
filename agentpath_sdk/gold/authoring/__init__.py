"""Where gold paths come from: recorded successes, drafts by a model, templates, other tools' files."""
