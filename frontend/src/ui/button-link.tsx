/** A link that looks like a button, for navigation only. */
import { Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';

interface LinkButtonProps
  extends
    ButtonProps,
    Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps> {
  ref?: Ref<HTMLAnchorElement>;
}

function LinkButton(props: LinkButtonProps) {
  return <Button component="a" {...props} />;
}

export const ButtonLink = createLink(LinkButton);
