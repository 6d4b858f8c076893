import { DomainError } from "@/lib/core/errors";
import type { OtpService } from "@/lib/modules/otp/service";
import type { DecisionsService } from "./service";

/**
 * Codes for operations that cannot wait for votes: where the project demands votes, the code of one person is neither mailed nor taken,
 * so that such an operation is no way around the votes.
 */
export const refuseCodesWhereVotes = (
  otp: OtpService,
  decisions: Pick<DecisionsService, "requirementOf">,
): OtpService => {
  const refuse = async (projectId: string): Promise<void> => {
    if ((await decisions.requirementOf(projectId)) === null) return;
    throw new DomainError(
      "invalid_state",
      "This project approves payments by votes, and private operations cannot wait for votes. Nothing was sent.",
    );
  };
  return {
    request: async (input) => {
      await refuse(input.actor.projectId);
      return otp.request(input);
    },
    consume: async (input) => {
      await refuse(input.actor.projectId);
      return otp.consume(input);
    },
  };
};
