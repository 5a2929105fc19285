"""What the package costs, measured against something in the same run."""
