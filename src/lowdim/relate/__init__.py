"""How samples and features relate: moments and Gram matrices."""
