"""The RELiC paper's prompts, asked of every retriever that pages offer, and what two readers say of the answers."""
