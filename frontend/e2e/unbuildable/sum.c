/* Does not compile: the error names an identifier that nothing declares. */
int main(void) { return undeclared_total; }
