/* The mark behind an arm's code in a static subject: see ../subject/provider.c.
 */
void paceline_arm_ends(void);
void paceline_arm_ends(void) {}
