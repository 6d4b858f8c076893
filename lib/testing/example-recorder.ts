import { writeFileSync } from "node:fs";
import { expect } from "vitest";
import { format } from "prettier";
import { namedContracts } from "@/lib/contracts/all";
import type { Example, Examples } from "@/lib/http/openapi-examples";
import { lookAlikes } from "./look-alikes";

export type Body = Record<string, unknown>;

export interface CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Headers that say who calls. */
  readonly as?: Readonly<Record<string, string>>;
  /** Default true: this call is the operation's example. False where a call only leads to it, with any status. */
  readonly recorded?: boolean;
}

const LIST_LENGTH_MAX = 2;

/** A list of a hundred rows explains no more than one of two. */
const shortened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, LIST_LENGTH_MAX).map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
};

const urlOf = (baseUrl: string, path: string, { params = {}, query = {} }: CallOptions): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  return `${baseUrl}${filled}${search === "" ? "" : `?${search}`}`;
};

/**
 * Calls operations over real HTTP and keeps what was sent and answered, with look-alikes in place of ids, keys, signatures, codes and
 * times. A recorded call fails unless it answers with the status of its contract.
 */
export const exampleRecorder = (baseUrl: string) => {
  const kept = new Map<string, Example>();

  const keep = (name: string, example: Example): void => void kept.set(name, shortened(example) as Example);

  const call = async (operationId: string, options: CallOptions = {}): Promise<Body> => {
    const contract = namedContracts.find((one) => one.operationId === operationId)?.contract;
    if (contract === undefined) throw new Error(`There is no operation ${operationId}.`);
    const { body, as, recorded = true } = options;
    const response = await fetch(urlOf(baseUrl, contract.path, options), {
      method: contract.method,
      headers: { "content-type": "application/json", ...as },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Body;
    if (!recorded) return answer;
    expect({ status: response.status, answer }, operationId).toMatchObject({ status: contract.status });
    keep(operationId, { ...(body === undefined ? {} : { request: body }), response: answer });
    return answer;
  };

  return {
    call,
    keep,
    /** The recorded examples, sorted by name. */
    examples: (): Examples => lookAlikes(Object.fromEntries([...kept].sort(([a], [b]) => a.localeCompare(b)))),
  };
};

/** The operations that have an example, sorted by name; events of webhooks are left out. */
export const operationsOf = (examples: Examples): readonly string[] =>
  namedContracts.flatMap(({ operationId }) => (operationId in examples ? [operationId] : [])).sort();

/** Replaces a committed file of examples. */
export const writeExamples = async (file: string, examples: Examples): Promise<void> => {
  writeFileSync(file, await format(JSON.stringify(examples), { parser: "json", printWidth: 120 }));
};
