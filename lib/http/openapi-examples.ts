import errorsRecorded from "@/lib/contracts/examples/errors.json";
import events from "@/lib/contracts/examples/events.json";
import personRecorded from "@/lib/contracts/examples/person.json";
import privateRecorded from "@/lib/contracts/examples/private.json";
import fromTests from "@/lib/contracts/examples/tests.json";
import recorded from "@/lib/contracts/examples/recorded.json";
import type { ErrorCode } from "@/lib/core/errors";

/** Bodies of one call. Operations without a body have no request. */
export interface Example {
  readonly request?: unknown;
  /** Of a stream: the data of one event. */
  readonly response?: unknown;
  /** The beginning of a stream, as it is sent. */
  readonly lines?: string;
  /** The body in the contract's other media type. */
  readonly otherResponse?: string;
}
export type Examples = Readonly<Record<string, Example>>;

/**
 * Bodies of real calls by operationId, and bodies of real webhooks by type of event. Tests make the calls and check that these files still
 * fit; `npm run openapi:examples` writes them again. `tests.json` has operations that only tests of
 * their own call, and `events.json` what no test meets, written by hand.
 */
export const EXAMPLES: Examples = { ...events, ...fromTests, ...recorded, ...privateRecorded, ...personRecorded };

/** A body of each error code, from answers that integration tests got; `npm run openapi:errors` writes them again. */
export const ERROR_EXAMPLES: Readonly<Partial<Record<ErrorCode, unknown>>> = errorsRecorded;

/** The `example` of a media type, or nothing where none was recorded. */
export const exampleOf = (examples: Examples, name: string, side: keyof Example): { readonly example?: unknown } => {
  const example = examples[name]?.[side];
  return example === undefined ? {} : { example };
};
