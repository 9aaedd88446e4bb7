/** The route /sign-in: after signing in it opens the page that `next` names, which is always one of this site. */
import { getRouteApi, useRouter } from '@tanstack/react-router';

import { SignInPage } from '../../features/session/sign-in-page';

const route = getRouteApi('/sign-in');

export function SignInRoute() {
  const { next } = route.useSearch();
  const router = useRouter();
  return <SignInPage onSignedIn={() => router.history.replace(next ?? '/')} />;
}
