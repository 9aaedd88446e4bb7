/** Reads the secret of a one-time link, which is in the fragment of the address so that it is in no server log. */
import { useEffect, useState } from 'react';

/** Returns the token and removes it from the address bar and the history entry. */
export function takeToken(): string | null {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token');
  if (token !== null) {
    window.history.replaceState(
      window.history.state,
      '',
      window.location.pathname + window.location.search,
    );
  }
  return token;
}

/** Returns the token of the page's link, also of a link that is pasted while the page is open. */
export function useLinkToken(): string | null {
  const [token, setToken] = useState<string | null>(null);
  useEffect(() => {
    const take = () => {
      const found = takeToken();
      if (found !== null) setToken(found);
    };
    take();
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);
  return token;
}
