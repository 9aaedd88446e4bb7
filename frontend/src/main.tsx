/** The entry: styles, providers, router. */
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './ui/theme.css';

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { createQueryClient } from './api/query-client';
import { App } from './app/app';
import { createAppRouter } from './app/router';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
const queryClient = createQueryClient();
const router = createAppRouter(queryClient);

createRoot(root).render(
  <StrictMode>
    <App queryClient={queryClient} router={router} />
  </StrictMode>,
);
