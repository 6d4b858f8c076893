import type { Config } from "wagmi";
import { openWallets } from "@/components/providers/wallets";
import type { PublicConfig } from "@/lib/http/public-config";
import { type Action, isSignature, type SigningStep, type StepState } from "./signing-model";
import { askWallet, connectorWith, isRejection, reasonOf, untilMined } from "./wallet-access";

type Tell = (at: StepState) => void;

const REVERTED = "the transaction was reverted. Only its network fee was spent.";
const NOT_SEEN =
  "the chain does not show the transaction yet. Going on waits for it; it is not sent twice.";

/** Waits until the sent transaction is mined when the next step depends on it. */
const settleTransaction = async (
  config: Config,
  { id: actionId, chainId }: Action,
  {
    txHash,
    mined,
    tell,
  }: { readonly txHash: string; readonly mined: boolean; readonly tell: Tell },
): Promise<boolean> => {
  if (!mined) {
    tell({ state: "done", signed: { actionId, txHash } });
    return true;
  }
  tell({ state: "mining", txHash });
  try {
    const minedHash = await untilMined(config, chainId, txHash);
    tell(
      minedHash === null
        ? { state: "failed", reason: REVERTED }
        : { state: "done", signed: { actionId, txHash: minedHash } },
    );
    return minedHash !== null;
  } catch {
    tell({ state: "failed", reason: NOT_SEEN, txHash });
    return false;
  }
};

/** Runs one step; resolves with true when it is done. */
export const runStep = async (
  publicConfig: PublicConfig,
  { action, at }: SigningStep,
  { mined, tell }: { readonly mined: boolean; readonly tell: Tell },
): Promise<boolean> => {
  const config = await openWallets(publicConfig);
  if (at.state === "failed" && at.txHash !== undefined) {
    return settleTransaction(config, action, { txHash: at.txHash, mined, tell });
  }
  try {
    const connector = await connectorWith(config, action.signerAddress);
    if (connector === undefined) {
      tell({ state: "needs_account" });
      return false;
    }
    tell({ state: "asking" });
    const answer = await askWallet({ config, connector, action });
    if (!isSignature(action))
      return await settleTransaction(config, action, { txHash: answer, mined, tell });
    tell({ state: "done", signed: { actionId: action.id, signature: answer } });
    return true;
  } catch (error) {
    tell(
      isRejection(error) ? { state: "rejected" } : { state: "failed", reason: reasonOf(error) },
    );
    return false;
  }
};
