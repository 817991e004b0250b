"""Language models on a server, which read passages beside a claim. Off unless a server is named."""
