"""`agentpath demo`: a live LangChain agent and recorded public runs, scored as in production."""
