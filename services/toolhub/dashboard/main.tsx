import { startApp } from '@libs/ui';
import { queryClient } from './api/client.ts';
import { router } from './router.tsx';
import { texts } from './texts.ts';

startApp({ name: texts.product, router, queryClient });
