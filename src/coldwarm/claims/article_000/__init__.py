"""Claims of the article on benchmarks of compiling against executing."""
