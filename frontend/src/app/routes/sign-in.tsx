/** /sign-in: hands address and navigation to the page; `next` is only followed inside this site. */
import { getRouteApi, useRouter } from '@tanstack/react-router';

import { SignInPage } from '../../features/session/sign-in-page';

const route = getRouteApi('/sign-in');

export function SignInRoute() {
  const { next } = route.useSearch();
  const router = useRouter();
  return <SignInPage onSignedIn={() => router.history.replace(next ?? '/')} />;
}
