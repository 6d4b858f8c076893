import type { Actor } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import type { KeyName } from "@/lib/core/refused-key";
import type { Contract } from "@/lib/contracts/contract";
import type { Decisions } from "./limits";
import type { HttpServices } from "./services";

/** The known facts about a request; the log line and the log of its API key are made of them. */
export interface Trace {
  readonly requestId: string;
  actor: Actor | null;
  /** The API key whose secret was sent, also where it was refused. */
  key: KeyName | null;
  clientAddress: string | null;
  /** The body's bytes; null where none was read. */
  body: Uint8Array | null;
  /** Code of the error that is answered. */
  code: string | null;
  readonly limits: Decisions;
  /** Headers that make the caller's later reads see its change. */
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

/** Keeps the request for the log of the key that made it. Never changes the answer. */
export const logForKey = (
  { method, path }: Contract,
  { requestId: id, key, code, clientAddress, body }: Trace,
  services: HttpServices | null,
  answered: { readonly status: number; readonly durationMs: number },
): void => {
  if (key === null || services === null) return;
  const { keyId, projectId } = key;
  const at = new Date(services.clock.now().getTime() - answered.durationMs);
  services.apiRequests.record({ projectId, id, keyId, method, path, ...answered, code, clientAddress, body, at });
};
