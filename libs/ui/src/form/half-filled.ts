import { texts } from '../texts.ts';

export interface HalfFilled {
  field: HTMLInputElement;
  words: string;
}

/**
 * Fields that hold something that is no value yet, such as a day without its time. To a form their value is empty, which
 * means none: a post that was to wait would go out at once.
 */
export function halfFilled(form: HTMLFormElement): HalfFilled[] {
  return [...form.elements]
    .filter((element) => element instanceof HTMLInputElement)
    .filter(({ validity }) => validity.badInput)
    .map((field) => ({ field, words: texts.halfFilled[field.type] ?? texts.halfFilledOther }));
}
