/** Sends JSON-RPC batches of any size to nodes that limit the size of a batch. */
import { z } from "zod";
import type { LearntLimit } from "./learnt-limit";
import { TOO_MANY_REQUESTS } from "./node-errors";
import { rpcResponse, textOf, type RpcFetch, type RpcResponse } from "./rpc-http";

const batchOf = z.array(z.looseObject({ id: z.union([z.number(), z.string()]) }));
type Calls = z.output<typeof batchOf>;

const answerObject = z.looseObject({ jsonrpc: z.string() });
const refusalObject = z.looseObject({
  error: z.looseObject({ code: z.number(), message: z.string() }),
});

/**
 * Maximum length of an answer that is parsed to recognise a rejected batch, because the answers of
 * rejections are short. Longer answers are not parsed here, because viem parses them too.
 */
const REFUSAL_LENGTH_MAX = 2_000;
const PARTS_AT_ONCE = 4;
const BAD_GATEWAY = 502;
/** Statuses with which nodes reject a request because of its size, with any body. */
const SIZE_STATUSES: ReadonlySet<number> = new Set([400, 413]);
/** Statuses that are about the account, so that smaller batches do not help. */
const ACCOUNT_STATUSES: ReadonlySet<number> = new Set([401, 403, TOO_MANY_REQUESTS]);

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body; null when it is longer than `ANSWER_BYTES_MAX`. */
  readonly text: string | null;
}

const jsonOf = (text: string | null): unknown => {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
};

const isList = ({ text }: Answer): boolean => text?.trimStart().startsWith("[") === true;

/**
 * Whether the node refused the whole batch. Nodes refuse with an object instead of a list (with any
 * status), with a list of one error for many calls (geth), or only with a status. An answer that is
 * too long also counts, because a smaller batch shortens it.
 */
const isRefusal = (answer: Answer, calls: () => number): boolean => {
  const { status, text } = answer;
  if (ACCOUNT_STATUSES.has(status)) return false;
  if (text === null || SIZE_STATUSES.has(status)) return true;
  if (!isList(answer)) return z.looseObject({}).safeParse(jsonOf(text)).success;
  if (text.length > REFUSAL_LENGTH_MAX) return false;
  return z.tuple([refusalObject]).safeParse(jsonOf(text)).success && calls() > 1;
};

const jsonResponse = (body: unknown): RpcResponse =>
  rpcResponse(200, new Headers({ "content-type": "application/json" }), JSON.stringify(body));

const asResponse = ({ status, headers, text }: Answer): RpcResponse =>
  rpcResponse(status, headers, text);

/**
 * Creates a response that viem treats as a failure. viem expects a list or an error status, and
 * ignores a plain object.
 */
const asFailure = (answer: Answer, batch: Calls): RpcResponse => {
  const { status, headers, text } = answer;
  const refused = refusalObject.safeParse(jsonOf(text));
  if (refused.success && !ACCOUNT_STATUSES.has(status))
    return jsonResponse(
      batch.map(({ id }) => ({ jsonrpc: "2.0", id, error: refused.data.error })),
    );
  return rpcResponse(status < 400 ? BAD_GATEWAY : status, headers, null);
};

type Post = (body: unknown) => Promise<Answer>;

/**
 * The answers to a part; null when they are not a list. A part with one call is sent as a single
 * object.
 */
const answersIn = (answer: Answer, part: Calls): readonly unknown[] | null => {
  if (answer.status >= 400) return null;
  const json = jsonOf(answer.text);
  if (part.length === 1 && answerObject.safeParse(json).success) return [json];
  const list = z.array(z.unknown()).length(part.length).safeParse(json);
  return list.success ? list.data : null;
};

const partsOf = (batch: Calls, size: number): Calls[] =>
  Array.from({ length: Math.ceil(batch.length / size) }, (_, index) =>
    batch.slice(index * size, (index + 1) * size),
  );

/**
 * Sends the batch in parts of at most `first` calls. A refused part is halved, down to one call.
 */
const sendInParts = async (
  batch: Calls,
  first: number,
  limit: LearntLimit,
  post: Post,
): Promise<RpcResponse> => {
  const answers: unknown[] = [];
  let size = first;
  let isSearching = true;
  while (answers.length < batch.length) {
    const parts = partsOf(batch.slice(answers.length), size).slice(
      0,
      isSearching ? 1 : PARTS_AT_ONCE,
    );
    const group = await Promise.all(
      parts.map(async (part) => ({
        part,
        answer: await post(part.length === 1 ? part[0] : part),
      })),
    );
    isSearching = false;
    for (const { part, answer } of group) {
      const found = answersIn(answer, part);
      if (found !== null) {
        answers.push(...found);
        continue;
      }
      if (part.length === 1 || !isRefusal(answer, () => part.length))
        return asFailure(answer, batch);
      size = Math.ceil(part.length / 2);
      isSearching = true;
      // The parts after the refused one are sent again, so that the answers stay in order.
      break;
    }
  }
  limit.learn(size);
  return jsonResponse(answers);
};

/**
 * A `fetch` that keeps JSON-RPC batches within the node's limit: a refused batch is halved, down to
 * single calls, and the accepted size is remembered. Calls may be sent twice, which is safe because
 * a transaction's signed bytes stay the same. A body that is not a list is passed on unchanged.
 */
export const withBatchLimit =
  (fetchFn: RpcFetch, max: number, limit: LearntLimit): RpcFetch =>
  async (url, init) => {
    const body = init?.body;
    if (typeof body !== "string" || !body.startsWith("[")) return fetchFn(url, init);
    const postText = async (text: string): Promise<Answer> => {
      const response = await fetchFn(url, { ...init, body: text });
      return {
        status: response.status,
        headers: response.headers,
        text: await textOf(response),
      };
    };
    const post: Post = (sent) => postText(JSON.stringify(sent));
    const batch = (): Calls => batchOf.parse(JSON.parse(body));
    if (limit.current() < max) return sendInParts(batch(), limit.current(), limit, post);
    const answer = await postText(body);
    if (!isRefusal(answer, () => batch().length)) return asResponse(answer);
    return sendInParts(batch(), Math.ceil(batch().length / 2), limit, post);
  };
