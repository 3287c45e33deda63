import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { Component, type ReactNode, useContext, useEffect } from 'react';
import { AppName } from '../shell/page.tsx';
import { texts } from '../texts.ts';

/** What is shown instead of a page that broke. */
export function BrokenPage() {
  return (
    <Center mih="50vh" p="md">
      <Stack align="center" role="alert">
        <Title order={1}>{texts.unexpected}</Title>
        <Text c="dimmed">{texts.unexpectedNext}</Text>
        <Button onClick={() => window.location.reload()}>{texts.reload}</Button>
      </Stack>
    </Center>
  );
}

export function NotFoundPage({ action }: { action?: ReactNode }) {
  const appName = useContext(AppName);
  useEffect(() => {
    document.title = `${texts.notFound} · ${appName}`;
  }, [appName]);
  return (
    <Center mih="50vh" p="md">
      <Stack align="center">
        <Title order={1}>{texts.notFound}</Title>
        <Text c="dimmed">{texts.notFoundNext}</Text>
        {action}
      </Stack>
    </Center>
  );
}

/** The last net: without it a fault in one component would leave an empty window. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override render(): ReactNode {
    return this.state.broken ? <BrokenPage /> : this.props.children;
  }
}
