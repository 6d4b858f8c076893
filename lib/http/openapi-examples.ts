import personRecorded from "@/lib/contracts/examples/person.json";
import privateRecorded from "@/lib/contracts/examples/private.json";
import recorded from "@/lib/contracts/examples/recorded.json";

/** Bodies of one call. Operations without a body have no request. */
export interface Example {
  readonly request?: unknown;
  readonly response?: unknown;
}
export type Examples = Readonly<Record<string, Example>>;

/**
 * Bodies of real calls by operationId, and bodies of real webhooks by type of event. Tests make the calls and check that these files still
 * fit; `npm run openapi:examples` writes them again.
 */
export const EXAMPLES: Examples = { ...recorded, ...privateRecorded, ...personRecorded };

/** The `example` of a media type, or nothing where none was recorded. */
export const exampleOf = (examples: Examples, name: string, side: keyof Example): { readonly example?: unknown } => {
  const example = examples[name]?.[side];
  return example === undefined ? {} : { example };
};
