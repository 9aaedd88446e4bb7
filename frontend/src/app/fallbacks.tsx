/** The pages shown while loading, after a failure and at unknown addresses. */
import { Container } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';

import { ButtonLink } from '../ui/button-link';
import { EmptyState, ErrorState, Loading } from '../ui/states';

export function RoutePending() {
  return <Loading what="the page" />;
}

export function RouteError({ error, reset }: ErrorComponentProps) {
  return (
    <Container component="main" size="sm" py="xl">
      <title>Problem · Paceline</title>
      <h1 className="pl-visually-hidden">Problem</h1>
      <ErrorState
        error={error instanceof Error ? error : new Error(String(error))}
        what="page"
        onRetry={reset}
      />
    </Container>
  );
}

export function NotFound() {
  return (
    <Container size="sm" py="xl">
      <title>Not found · Paceline</title>
      <h1 className="pl-visually-hidden">Not found</h1>
      <EmptyState
        icon="question"
        title="Page not found"
        action={
          <ButtonLink to="/" variant="default">
            Go to the overview
          </ButtonLink>
        }
      >
        The link may be incomplete, or the page was moved.
      </EmptyState>
    </Container>
  );
}
