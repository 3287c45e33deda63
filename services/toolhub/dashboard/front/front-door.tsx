import { Icon, type IconName, useSearchState } from '@libs/ui';
import { Alert, Anchor, Button, Container, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Brand } from '../session/brand.tsx';
import { texts } from '../texts.ts';

const words = texts.front;
const icons: readonly IconName[] = ['bolt', 'shield', 'list'];

export function FrontDoor() {
  const isDeleted = useSearchState().values.deleted === 'true';
  useEffect(() => {
    document.title = `${texts.product} · ${words.short}`;
  }, []);
  return (
    <Container size="lg" py="lg" component="main">
      <Group justify="space-between">
        <Brand />
        <Group gap="xs">
          <Button component={Link} to="/login" variant="default">
            {texts.login.submit}
          </Button>
          <Button component={Link} to="/signup">
            {texts.login.signUp}
          </Button>
        </Group>
      </Group>
      {isDeleted ? (
        <Alert color="teal" role="status" mt="lg">
          {words.deleted}
        </Alert>
      ) : null}
      <Stack align="center" ta="center" gap="md" py={{ base: 48, sm: 96 }}>
        <Title order={1} fz={{ base: 32, sm: 46 }} maw={760} textWrap="balance">
          {words.title}
        </Title>
        <Text size="lg" c="dimmed" maw={640}>
          {words.lead}
        </Text>
        <Group justify="center">
          <Button component={Link} to="/signup" size="md">
            {words.start}
          </Button>
          <Button component="a" href="/login?next=/oauth/connect-mcp" size="md" variant="default">
            {words.connect}
          </Button>
        </Group>
        <Text size="sm" c="dimmed">
          {words.platforms}
        </Text>
      </Stack>
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xl" component="section">
        {words.points.map(([title, text], index) => (
          <Stack key={title} gap={6}>
            <Icon name={icons[index] ?? 'check'} size={26} />
            <Title order={2} fz="lg">
              {title}
            </Title>
            <Text c="dimmed">{text}</Text>
          </Stack>
        ))}
      </SimpleGrid>
      <Group justify="center" pt={64}>
        <Anchor href="/docs">{words.docs}</Anchor>
      </Group>
    </Container>
  );
}
