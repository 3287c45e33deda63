import { texts } from '../texts.ts';

/** No link: the way home is the first one of the navigation. */
export function Brand() {
  return (
    <div className="ui-brand">
      <img src="/dashboard/icon.svg" alt="" width={28} height={28} />
      {texts.product}
    </div>
  );
}
