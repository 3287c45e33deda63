export { createApi, type ListOptions } from './api/api.ts';
export {
  addressOf,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Query,
} from './api/client.ts';
export { type StreamListener, type StreamMessage, useEventStream } from './api/event-stream.ts';
export { newIdempotencyKey } from './api/idempotency-key.ts';
export { oneByOne } from './api/one-by-one.ts';
export { ApiError, ConnectionLost, isApiError } from './api/problem.ts';
export { useReading } from './api/reading.ts';
export { NotFoundPage } from './app/error-page.tsx';
export { createPages, page } from './app/pages.tsx';
export { startApp } from './app/start-app.tsx';
export { ApiFormView, FormProblemView, RestoredNote } from './form/api-form.tsx';
export { CalendarField } from './form/calendar-field.tsx';
export { fromClockField, toClockField, viewersZone } from './form/clock-field.ts';
export { drafts, useDraft } from './form/drafts.ts';
export { halfFilled } from './form/half-filled.ts';
export { SubmitButton } from './form/submit-button.tsx';
export { type ApiForm, useApiForm } from './form/use-api-form.ts';
export { NarrowPage } from './shell/narrow-page.tsx';
export { Page } from './shell/page.tsx';
export type { PaletteAction } from './shell/palette.tsx';
export { type NavigationGroup, Shell } from './shell/shell.tsx';
export { ActionButton } from './show/action-button.tsx';
export { Amount, formatAmount, parseAmount } from './show/amount.tsx';
export { CodeBlock, type CodeSample, CodeTabs, JsonBlock } from './show/code-block.tsx';
export { ConfirmButton } from './show/confirm.tsx';
export { CopyButton, CopyText } from './show/copy.tsx';
export { inItsDirection } from './show/direction.ts';
export { download } from './show/download.ts';
export { DownloadLink } from './show/download-link.tsx';
export { Empty, EmptyNote } from './show/empty.tsx';
export { Figure } from './show/figure.tsx';
export { Facts, Panel } from './show/panel.tsx';
export { ProblemView } from './show/problem-view.tsx';
export { Loading, QueryView } from './show/query-view.tsx';
export { SecretOnce } from './show/secret-once.tsx';
export { TabRow } from './show/tab-row.tsx';
export { ToStart } from './show/to-start.tsx';
export { toast } from './show/toast.ts';
export { withUnseenMarked } from './show/unseen.ts';
export { Day, When } from './show/when.tsx';
export { breakable, Coded, capitalised, wordsOfCode } from './show/words.tsx';
export type { Column } from './table/columns-for.ts';
export { DataTable } from './table/data-table.tsx';
export { ChoiceFilter, DateRangeFilter, DayFilter, FilterBar, TextFilter } from './table/filters.tsx';
export { ListPanel, ListView } from './table/list-view.tsx';
export { PagedTable, PagedView } from './table/paged-table.tsx';
export { usePlace, usePlaceInAddress } from './table/place.ts';
export { type ListPage, QueryTable } from './table/query-table.tsx';
export { type Search, type SearchState, useSearchState } from './table/search.ts';
export { Icon, type IconName } from './theme/icons.tsx';
