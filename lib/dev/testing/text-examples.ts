import { expect, vi } from "vitest";
import type { exampleRecorder } from "./example-recorder";

type Recorder = ReturnType<typeof exampleRecorder>;
type Headers = Readonly<Record<string, string>>;

interface TextExamples extends Pick<Recorder, "call" | "callText" | "callStream" | "keep"> {
  readonly person: Headers;
  readonly key: Headers;
  /** Ids of an operation that has ended, a payout to wallets and a global account. */
  readonly ids: {
    readonly operation: string;
    readonly payout: string;
    readonly account: string;
  };
}

const READY_TIMEOUT_MS = 30_000;

const backgroundExport = async ({
  call,
  callText,
  key,
}: Pick<TextExamples, "call" | "callText" | "key">): Promise<void> => {
  const body = { kind: "activity", filters: { status: "completed" } };
  const { id } = await call("createExport", { body, as: key });
  const one = { params: { id: String(id) }, as: key };
  await vi.waitFor(
    async () => {
      const { state } = await call("getExport", { ...one, recorded: false });
      expect(state).toBe("ready");
    },
    { timeout: READY_TIMEOUT_MS, interval: 100 },
  );
  await call("getExport", one);
  await call("listExports", { as: key });
  await callText("downloadExport", one);
};

/**
 * Calls each route whose answer is a stream or a download, after the JSON of the same operations
 * was recorded.
 */
export const callTexts = async ({
  call,
  callText,
  callStream,
  keep,
  person,
  key,
  ids,
}: TextExamples): Promise<void> => {
  await callText("exportPayoutItems", { params: { id: ids.payout }, as: key });
  await callText("exportStatement", { params: { id: ids.account }, as: key });
  await callText("exportStatementCamt", { params: { id: ids.account }, as: key });
  await callText("exportReserveStatement", { params: { currency: "usdc" }, as: key });
  await callText("exportReserveStatementCamt", { params: { currency: "usdc" }, as: key });
  await callText("exportActivity", { as: key });
  await callText("exportOperations", { as: key });
  await backgroundExport({ call, callText, key });
  await callText("exportAuditLog", { as: person });
  await callText("getMetrics");
  await callText("getErrorPage", { params: { code: "quote_expired" } });
  await callStream("streamOperationEvents", { params: { id: ids.operation }, as: key });
  await callStream("streamChanges", { as: key });
  // Only the beginning, because the whole document inside itself would explain nothing more.
  const { openapi, info, servers } = await call("getOpenApi", { recorded: false });
  keep("getOpenApi", { response: { openapi, info, servers, paths: {} } });
};
