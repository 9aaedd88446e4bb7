/** /invitation and /reset-password: pages that one-time links open. */
import { useRouter } from '@tanstack/react-router';

import { InvitationPage } from '../../features/session/invitation-page';
import { ResetPasswordPage } from '../../features/session/reset-password-page';

export function InvitationRoute() {
  const router = useRouter();
  // The server takes `default` if no project is named, so the address need not name it.
  return (
    <InvitationPage
      onJoined={(project) =>
        router.history.replace(
          project === 'default' ? '/' : `/?project=${project}`,
        )
      }
    />
  );
}

export function ResetPasswordRoute() {
  const router = useRouter();
  return <ResetPasswordPage onSignedIn={() => router.history.replace('/')} />;
}
