import type { z } from "zod";
import type { action } from "@/lib/contracts/quote-records";
import type { EvmAddress } from "@/lib/ports/routing";
import type { PreparedLeg, SourceWallet } from "@/lib/modules/quotes/service";

export type Action = z.output<typeof action>;

/** The actions of a linked wallet for a prepared leg; none where the service signs. */
export const actionsOf = (leg: PreparedLeg, at: { wallet: SourceWallet; chainId: number }): Action[] => {
  const common = {
    walletId: at.wallet.id,
    walletAddress: at.wallet.address as EvmAddress,
    chainId: at.chainId,
  };
  switch (leg.by) {
    case "service":
      return [];
    case "owner": {
      const { actionId, signer, description, typedData } = leg.action;
      return [{ ...common, actionId, signerAddress: signer, kind: "user_operation", description, typedData }];
    }
    case "permit": {
      const { actionId, signer, description, typedData } = leg.action;
      return [{ ...common, actionId, signerAddress: signer, kind: "typed_data", description, typedData }];
    }
    case "wallet":
      return leg.transactions.map(({ actionId, description, to, data, value, gas }) => ({
        ...common,
        actionId,
        signerAddress: leg.wallet,
        kind: "transaction",
        description,
        transaction: { to, data, value: value.toString(), gas: gas.toString() },
      }));
  }
};
