import type { exampleRecorder } from "./example-recorder";

type Recorder = ReturnType<typeof exampleRecorder>;
type Headers = Readonly<Record<string, string>>;

interface TextExamples extends Pick<Recorder, "call" | "callText" | "callStream" | "keep"> {
  readonly person: Headers;
  readonly key: Headers;
  /** Of an operation that has ended, a payout to wallets and a global account. */
  readonly ids: { readonly operation: string; readonly payout: string; readonly account: string };
}

/** Calls each route whose answer is a stream or a download, once the JSON of the same operations was recorded. */
export const callTexts = async ({
  call,
  callText,
  callStream,
  keep,
  person,
  key,
  ids,
}: TextExamples): Promise<void> => {
  const csv = { format: "csv" };
  await callText("listPayoutItems", { params: { id: ids.payout }, query: csv, as: key });
  await callText("getStatement", { params: { id: ids.account }, query: csv, as: key });
  await callText("exportActivity", { as: key });
  await callText("exportOperations", { as: key });
  await callText("exportAuditLog", { as: person });
  await callText("getMetrics");
  await callStream("streamOperationEvents", { params: { id: ids.operation }, as: key });
  await callStream("streamChanges", { as: key });
  // The whole document in itself would say nothing more.
  const { openapi, info, servers } = await call("getOpenApi", { recorded: false });
  keep("getOpenApi", { response: { openapi, info, servers, paths: {} } });
};
