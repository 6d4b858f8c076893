/**
 * Entity tags of read operations: a caller that has the answer already gets 304 without a body (RFC
 * 9110, 13.1.2).
 */
import { createHash } from "node:crypto";
import type { Contract } from "@/lib/contracts/contract";
import type { HttpInput } from "./input";
import type { Answer } from "./reply";

/** The entity tag of a body. It is weak, because the same answer may be sent compressed. */
const tagOf = (body: string): string =>
  `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;

const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");

const names = (header: string, tag: string): boolean =>
  header.trim() === "*" || header.split(",").some((each) => opaque(each) === opaque(tag));

/** Whether answers of the operation have an entity tag: JSON answers of read operations. */
export const isTagged = ({ method, mediaType }: Contract): boolean =>
  method === "GET" && mediaType === undefined;

/**
 * Adds the entity tag to the answer, or returns 304 when the caller has it. Caches must revalidate
 * each time, because the answer may change at any moment, and depends on the caller unless the
 * operation is public.
 */
export const conditional = (
  contract: Contract,
  input: Pick<HttpInput, "header">,
  answer: Answer,
): Answer => {
  if (!isTagged(contract) || answer.status !== 200) return answer;
  const etag = tagOf(answer.body);
  const cacheControl = contract.auth === "public" ? "no-cache" : "private, no-cache";
  const headers = { "cache-control": cacheControl, ...answer.headers, etag };
  const known = input.header("if-none-match");
  return known !== null && names(known, etag)
    ? { status: 304, headers, body: "" }
    : { ...answer, headers };
};
