import type { PrivateKeyAccount } from "viem/accounts";
import { ApiError, type ApiClient } from "@/lib/api-client/client";
import { createApiKey } from "@/lib/contracts/api-keys";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { updatePolicies } from "@/lib/contracts/policies";

/** The approval fields of a request. */
export interface SignedApproval {
  readonly approvalId: string;
  readonly signature: `0x${string}`;
}

type Signer = Pick<PrivateKeyAccount, "signMessage">;

/** The approval that the service asked for, signed. @throws the error itself where it asks for none */
export const signApproval = async (signer: Signer, error: unknown): Promise<SignedApproval> => {
  if (!(error instanceof ApiError) || error.code !== "approval_required") throw error;
  const { approvalId } = error.body as { approvalId: string };
  return { approvalId, signature: await signer.signMessage({ message: error.message }) };
};

/** Sends a request, and where it needs an approval sends it again with the wallet's signature. */
export const withApproval = <T>(signer: Signer, send: (approval?: SignedApproval) => Promise<T>): Promise<T> =>
  send().catch(async (error: unknown) => send(await signApproval(signer, error)));

export const setDailyCap = async (signer: Signer, client: ApiClient, dailyCapUsd: string): Promise<void> => {
  await withApproval(signer, (approval) =>
    client.call(updatePolicies, { body: { dailyCapUsd, ...(approval ? { approval } : {}) } }),
  );
};

/** A key as its owner wants it; the project's cap is raised first where the key's is to be above the default. */
export const approvedKey = async (
  signer: Signer,
  client: ApiClient,
  body: BodyInput<typeof createApiKey>,
): Promise<ResponseOf<typeof createApiKey>> => {
  if (Number(body.dailyCapUsd ?? 0) > 1000) await setDailyCap(signer, client, body.dailyCapUsd ?? "");
  return withApproval(signer, (approval) =>
    client.call(createApiKey, { body: { ...body, ...(approval ? { approval } : {}) } }),
  );
};
