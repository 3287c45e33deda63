import { Link } from '@tanstack/react-router';
import { texts } from '../texts.ts';

export function Brand() {
  return (
    <Link to="/" className="ui-brand">
      <img src="/dashboard/icon.svg" alt="" width={28} height={28} />
      {texts.product}
    </Link>
  );
}
