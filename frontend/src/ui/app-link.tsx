/** The link to a page of ours, typed by the router's route tree. */
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';

interface PlainLinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  ref?: Ref<HTMLAnchorElement>;
}

function PlainLink({ children, className, ...rest }: PlainLinkProps) {
  return (
    <a className={`pl-link ${className ?? ''}`.trim()} {...rest}>
      {children}
    </a>
  );
}

export const AppLink = createLink(PlainLink);
