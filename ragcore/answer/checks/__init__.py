"""What verification looks at: one module for each kind of thing that a claim may say."""
