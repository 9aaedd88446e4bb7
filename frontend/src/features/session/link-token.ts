/** The secret of a one-time link, which is in the fragment of its address: no server log sees it. */
import { useEffect, useState } from 'react';

/** Takes the token out of the address bar and the history entry. */
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

/** The token of the page's link. A link pasted while the page is open changes only the fragment, so that is heard. */
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
