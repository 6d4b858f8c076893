import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { expect } from "vitest";
import { format } from "oxfmt";
import { namedContracts } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import type { Example, Examples } from "@/lib/http/openapi-errors";
import { checkRepeats, isRepeatable } from "./lost-answers";
import { lookAlikes } from "./look-alikes";

export type Body = Record<string, unknown>;

export interface CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Headers that identify the caller. */
  readonly as?: Readonly<Record<string, string>>;
  /**
   * Default true: this call is the operation's example. False for a preparatory call, which may
   * have any status.
   */
  readonly recorded?: boolean;
}

const LIST_LENGTH_MAX = 2;

/** Shortens lists, because a hundred rows explain no more than two. */
export const shortened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, LIST_LENGTH_MAX).map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, shortened(inner)]),
  );
};

const urlOf = (
  baseUrl: string,
  path: string,
  { params = {}, query = {} }: CallOptions,
): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  const search = new URLSearchParams(query).toString();
  return `${baseUrl}${filled}${search === "" ? "" : `?${search}`}`;
};

const CSV_LINES_MAX = 3;
const METRIC_LINES_MAX = 8;
const EVENTS_MAX = 1;
const EVENT_TIMEOUT_MS = 60_000;

const contractOf = (operationId: string): Contract => {
  const contract = namedContracts.find((one) => one.operationId === operationId)?.contract;
  if (contract === undefined) throw new Error(`There is no operation ${operationId}.`);
  return contract;
};

/** Reads the first events of a stream, then closes the connection. */
const firstEvents = async (body: ReadableStream<Uint8Array>): Promise<string> => {
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let text = "";
  const events = (): string[] => text.split("\n\n").slice(0, -1);
  const isFull = (): boolean =>
    events().filter((event) => event.includes("data: ")).length >= EVENTS_MAX;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
    if (isFull()) break;
  }
  await reader.cancel();
  return `${events()
    .slice(0, EVENTS_MAX + 1)
    .join("\n\n")}\n`;
};

/**
 * Calls operations over real HTTP and records requests and answers, with stable replacements for
 * ids, keys, signatures, codes and times. A recorded call fails unless it answers with the
 * contract's status. A recorded POST also fails unless its repetition finds the first result.
 * @param forget deletes the stored answers of an Idempotency-Key
 */
export const exampleRecorder = (baseUrl: string, forget: (key: string) => Promise<void>) => {
  const kept = new Map<string, Example>();

  const keep = (name: string, example: Example): void =>
    void kept.set(name, shortened(example) as Example);

  const call = async (operationId: string, options: CallOptions = {}): Promise<Body> => {
    const contract = contractOf(operationId);
    const { body, as, recorded = true } = options;
    const key = randomUUID();
    const send = async () => {
      const response = await fetch(urlOf(baseUrl, contract.path, options), {
        method: contract.method,
        headers: { "content-type": "application/json", "idempotency-key": key, ...as },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const isReplayed = response.headers.get("idempotent-replayed") === "true";
      return { status: response.status, answer: (await response.json()) as Body, isReplayed };
    };
    const { status, answer } = await send();
    if (!recorded) return answer;
    expect({ status, answer }, operationId).toMatchObject({ status: contract.status });
    if (isRepeatable(contract, operationId))
      await checkRepeats(operationId, answer, { again: send, forget: () => forget(key) });
    keep(operationId, { ...(body === undefined ? {} : { request: body }), response: answer });
    return answer;
  };

  const answerOf = async (
    operationId: string,
    options: CallOptions,
    signal?: AbortSignal,
  ): Promise<Response> => {
    const url = urlOf(baseUrl, contractOf(operationId).path, options);
    const answer = await fetch(url, {
      headers: { ...options.as },
      ...(signal === undefined ? {} : { signal }),
    });
    expect({ status: answer.status, operationId }).toEqual({ status: 200, operationId });
    return answer;
  };

  /** Records the first lines of a text answer. */
  const callText = async (operationId: string, options: CallOptions = {}): Promise<void> => {
    const text = await (await answerOf(operationId, options)).text();
    const { mediaType } = contractOf(operationId);
    const end = mediaType === "text/plain" ? "\n" : "\r\n";
    const linesMax = mediaType === "text/plain" ? METRIC_LINES_MAX : CSV_LINES_MAX;
    const lines = `${text.split(end).filter(Boolean).slice(0, linesMax).join(end)}${end}`;
    keep(operationId, { response: lines });
  };

  /** Records the first events of a stream. */
  const callStream = async (operationId: string, options: CallOptions = {}): Promise<void> => {
    const answer = await answerOf(operationId, options, AbortSignal.timeout(EVENT_TIMEOUT_MS));
    if (answer.body === null) throw new Error(`${operationId} answered no stream.`);
    const lines = await firstEvents(answer.body);
    const data = /^data: (\{.*\})$/m.exec(lines)?.[1] ?? "null";
    keep(operationId, { response: JSON.parse(data) as unknown, lines });
  };

  return {
    call,
    callText,
    callStream,
    keep,
    /** The recorded examples, sorted by name. */
    examples: (): Examples =>
      lookAlikes(Object.fromEntries([...kept].sort(([a], [b]) => a.localeCompare(b)))),
  };
};

/** The operations with an example, sorted by name; webhook events are left out. */
export const operationsOf = (examples: Examples): readonly string[] =>
  namedContracts
    .flatMap(({ operationId }) => (operationId in examples ? [operationId] : []))
    .sort();

/** Replaces a committed file of examples. */
export const writeExamples = async (file: string, examples: Examples): Promise<void> => {
  const { code } = await format(file, JSON.stringify(examples), { printWidth: 120 });
  writeFileSync(file, code);
};
