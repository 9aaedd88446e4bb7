/* The mark before an arm's code in a static subject: see ../subject/provider.c.
 */
void paceline_arm_begins(void);
void paceline_arm_begins(void) {}
