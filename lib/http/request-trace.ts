import type { Actor } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import type { KeyName } from "@/lib/core/errors";
import type { Contract } from "@/lib/contracts/contract";
import type { Decisions } from "./limits";
import type { HttpServices } from "./services";

/** The facts about a request so far, for the log line and for the log of its API key. */
export interface Trace {
  readonly requestId: string;
  actor: Actor | null;
  /** The API key whose secret was sent, even if it was refused. */
  key: KeyName | null;
  clientAddress: string | null;
  /** The body's bytes; null when none was read. */
  body: Uint8Array | null;
  code: string | null;
  readonly limits: Decisions;
  /** Headers with which the caller's later reads see its change. */
  freshness: Readonly<Record<string, string>>;
}

export const newTrace = (): Trace => ({
  requestId: newId("request"),
  actor: null,
  key: null,
  clientAddress: null,
  body: null,
  code: null,
  limits: [],
  freshness: {},
});

/** Records the request in the log of its API key. Never changes the answer. */
export const logForKey = (
  { method, path }: Contract,
  { requestId: id, key, code, clientAddress, body }: Trace,
  services: HttpServices | null,
  answered: { readonly status: number; readonly durationMs: number },
): void => {
  if (key === null || services === null) return;
  const { keyId, projectId } = key;
  const at = new Date(services.clock.now().getTime() - answered.durationMs);
  services.apiRequests.record({
    projectId,
    id,
    keyId,
    method,
    path,
    ...answered,
    code,
    clientAddress,
    body,
    at,
  });
};
