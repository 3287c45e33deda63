import { Center, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useContext, useEffect } from 'react';
import { AppName } from './page.tsx';

/** A page outside the shell with one form on it: log in, sign up, and what mails lead to. */
export function NarrowPage(props: {
  brand: ReactNode;
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  below?: ReactNode;
}) {
  const appName = useContext(AppName);
  useEffect(() => {
    document.title = `${props.title} · ${appName}`;
  }, [props.title, appName]);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack w="100%" maw={420} gap="lg">
        <Center>{props.brand}</Center>
        <Paper className="ui-panel ui-narrow" p="xl" shadow="sm">
          <Stack>
            <div>
              <Title order={1}>{props.title}</Title>
              {props.lead === undefined ? null : (
                <Text c="dimmed" size="sm" mt={4}>
                  {props.lead}
                </Text>
              )}
            </div>
            {props.children}
          </Stack>
        </Paper>
        {props.below === undefined ? null : (
          <Text ta="center" size="sm" component="div">
            {props.below}
          </Text>
        )}
      </Stack>
    </Center>
  );
}
