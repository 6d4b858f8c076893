/**
 * Records the API's error answers; `scripts/error-examples.ts` creates one example for each of
 * their codes.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** File of the recorded errors, one error body in each line. */
export const RECORDED_ERRORS = resolve(".data/recorded-errors.ndjson");

/** Appends the body of an answer that is an error with a code. */
export const recordError = async (answer: Response): Promise<void> => {
  if (answer.status < 400) return;
  const text = await answer
    .clone()
    .text()
    .catch(() => "");
  if (!text.includes('"code"')) return;
  mkdirSync(dirname(RECORDED_ERRORS), { recursive: true });
  appendFileSync(RECORDED_ERRORS, `${text}\n`);
};
