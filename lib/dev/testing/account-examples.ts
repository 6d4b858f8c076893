import type { exampleRecorder } from "./example-recorder";

type Headers = Readonly<Record<string, string>>;

interface Examples {
  readonly call: ReturnType<typeof exampleRecorder>["call"];
  /** Calls a route that needs an approval, and approves it. */
  readonly approved: (operationId: string, body: object, params?: Headers) => Promise<unknown>;
  readonly person: Headers;
  readonly key: Headers;
}

/** Renames, freezes, unfreezes and closes an account that holds nothing. */
export const callAccountStates = async ({
  call,
  approved,
  person,
  key,
}: Examples): Promise<void> => {
  const body = { currency: "USDC", name: "Customer 18" };
  const account = await call("createGlobalAccount", { body, as: key, recorded: false });
  const params = { id: String(account.id) };
  await call("updateGlobalAccount", { params, body: { name: "Customer 18, Berlin" }, as: key });
  await call("freezeGlobalAccount", {
    params,
    body: { reason: "Their documents expired" },
    as: key,
  });
  await approved("unfreezeGlobalAccount", {}, params);
  await call("closeGlobalAccount", {
    params,
    body: { reason: "The contract ended" },
    as: person,
  });
};
