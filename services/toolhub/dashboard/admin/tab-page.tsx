import { Navigate, useParams } from '@tanstack/react-router';

/** `/admin/dead-letters` leads to the tab, which has its address in the search so that filters can stand beside it. */
export function AdminTabPage() {
  const { tab = '' } = useParams({ strict: false }) as { tab?: string };
  const name = tab.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
  return <Navigate to="/admin" search={{ tab: name } as never} replace />;
}
