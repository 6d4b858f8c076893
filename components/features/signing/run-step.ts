import type { Config } from "wagmi";
import { openWallets } from "@/components/providers/wallets";
import type { PublicConfig } from "@/lib/http/public-config";
import { isSignature } from "./signing-model";
import type { Action, SigningStep, StepState } from "./types";
import { askWallet, connectorWith, isRejection, reasonOf, untilMined } from "./wallet-access";

type Tell = (at: StepState) => void;

const REVERTED = "the transaction was reverted. Only its network fee was spent.";
const NOT_SEEN = "the chain does not show the transaction yet. Going on waits for it; it is not sent twice.";

/** Waits where the next step needs this one on the chain. */
const settleTransaction = async (
  config: Config,
  { actionId, chainId }: Action,
  { txHash, mined, tell }: { readonly txHash: string; readonly mined: boolean; readonly tell: Tell },
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

/** One step: true when it is done. */
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
    if (!isSignature(action)) return await settleTransaction(config, action, { txHash: answer, mined, tell });
    tell({ state: "done", signed: { actionId: action.actionId, signature: answer } });
    return true;
  } catch (error) {
    tell(isRejection(error) ? { state: "rejected" } : { state: "failed", reason: reasonOf(error) });
    return false;
  }
};
