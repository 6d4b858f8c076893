/** Error cases of operations that move money. */
import {
  APPROVAL,
  SENDING_MAIL,
  approvalOf,
  CHAIN_PROVIDER,
  PRIVATE_FUNDS,
  PRIVATE_MOVE,
  PAYMENT_FUNDS,
  RETRY_STATE,
  type Cases,
} from "./shared";

const CAMT: Cases = {
  amount_precision: {
    when: "A balance or an entry has more decimals or digits than camt.053 allows.",
    action: "Download CSV, which has every digit, or choose another period.",
  },
};

export const MONEY_CASES: Readonly<Record<string, Cases>> = {
  fundGlobalAccount: {
    invalid_state: {
      when: "The account is frozen or closed. Nothing was posted.",
      action: "Read the account; unfreeze it first.",
    },
  },
  freezeGlobalAccount: {
    invalid_state: {
      when: "The account is closed. Nothing was changed.",
      action: "Nothing is left to freeze.",
    },
  },
  closeGlobalAccount: {
    invalid_state: {
      when: "The account holds money. Nothing was changed.",
      action: "Pay out what it holds, or take its fundings back; then close it.",
    },
  },
  reverseFunding: {
    invalid_state: {
      when: "The posting is no funding, or was taken back before. Nothing was posted.",
      action: "Pay a payment back with a payout.",
    },
    insufficient_balance: {
      when: "The account has spent some of the funding. Nothing was posted.",
      action: "Let money come back to the account first, or take back a smaller funding.",
    },
  },
  streamOperationEvents: {
    rate_limited: {
      when: "The caller has as many open streams as are allowed.",
      action: "Close one, or read GET /operations/{id} instead.",
    },
  },
  streamDeposits: {
    rate_limited: {
      when: "The caller has as many open streams as are allowed.",
      action: "Close one, or read GET /deposits instead.",
    },
  },
  streamChanges: {
    rate_limited: {
      when: "The caller has as many open streams as are allowed.",
      action: "Close one, or read the lists again every half minute instead.",
    },
  },
  cancelOperation: {
    invalid_state: {
      when: "The operation has ended, or part of it was sent. It goes on; nothing was changed.",
      action: "Read the operation; what failed or came back can be tried again.",
    },
  },
  retryOperation: {
    invalid_state: RETRY_STATE,
    insufficient_balance: PAYMENT_FUNDS,
    provider_error: CHAIN_PROVIDER,
  },
  decideRefund: {
    forbidden: {
      when: "The caller's role may not move money.",
      action: "Ask an operator, an admin or an owner.",
    },
    invalid_state: {
      when: "The part does not wait for a decision any more, or refunds of other deposits account for the named payment.",
      action: "Read the operation; name the transaction that paid this part, or keep waiting.",
    },
    provider_error: {
      when: "The payment could not be read from the chain.",
      action: "Try again in a minute.",
    },
  },
  approveOperation: {
    ...approvalOf("operation", "operationId"),
    insufficient_balance: PAYMENT_FUNDS,
    provider_error: CHAIN_PROVIDER,
  },
  approvePayoutSchedule: approvalOf("schedule", "scheduleId"),
  cancelPayoutSchedule: {
    invalid_state: { when: "The schedule has ended.", action: "Read the schedule." },
  },
  createAccountsPayout: {
    insufficient_balance: {
      when: "A source account holds less than its rows ask for. Nothing was posted.",
      action: "Fund the account, or remove rows; `details` names them.",
    },
  },
  createWalletsPayout: {
    insufficient_balance: PAYMENT_FUNDS,
    invalid_state: {
      when: "The account that should bear the payments is frozen or closed. Nothing was paid.",
      action: "Unfreeze the account, or name another one.",
    },
  },
  approvePayout: { ...approvalOf("payout", "payoutId"), insufficient_balance: PAYMENT_FUNDS },
  cancelPayout: {
    invalid_state: {
      when: "The payout has ended, or every part of it is under way. Nothing was changed.",
      action: "Read the payout; its rows say what was paid.",
    },
  },
  retryPayout: { invalid_state: RETRY_STATE, insufficient_balance: PAYMENT_FUNDS },
  getPrivateBalances: { provider_error: CHAIN_PROVIDER },
  listPrivateExits: { provider_error: CHAIN_PROVIDER },
  shield: PRIVATE_MOVE,
  unshield: PRIVATE_MOVE,
  privateTransfer: PRIVATE_MOVE,
  startPrivateExit: {
    provider_error: CHAIN_PROVIDER,
    invalid_state: {
      when: "The note is approved, so it can be unshielded in private. Nothing was sent.",
      action: "POST /privacy/unshield; the public exit is for notes that were refused.",
    },
  },
  quotePrivateSwap: { provider_error: CHAIN_PROVIDER },
  preparePrivateSwap: {
    invalid_state: {
      when: "Another call prepared the quote at the same moment. Nothing was sent.",
      action: "Prepare it again.",
    },
    otp_required: {
      when: "No code was sent.",
      action: "POST /swap/request-otp with `quoteId`, then send the code.",
    },
    invalid_signature: APPROVAL.invalid_signature,
  },
  executePrivateSwap: {
    invalid_state: {
      when: "The quote is not prepared. Nothing was sent.",
      action: "POST /privacy/swap/prepare first.",
    },
    insufficient_balance: PRIVATE_FUNDS,
    provider_error: CHAIN_PROVIDER,
  },
  exportStatementCamt: CAMT,
  exportReserveStatementCamt: CAMT,
  getReservesProof: {
    invalid_state: {
      when: "The account is younger than the latest tree of balances.",
      action: "Ask again as Retry-After says; the next tree has it.",
    },
  },
  requestOtp: {
    ...SENDING_MAIL,
    forbidden: {
      when: "An API key asked for the code of an operation, payout or schedule, which only people approve; or the role moves no money; or the address was set with a recovery code less than a day ago. No code was mailed.",
      action: "Let a signed-in owner, admin or operator ask for the code and approve it.",
    },
    invalid_state: {
      when: "What the code would approve was approved, cancelled or needs votes, or the chosen factor does not exist.",
      action: "Read it again; its `may` says what can be done.",
    },
  },
  prepareSwap: {
    invalid_state: {
      when: "The quote was cancelled, or another call prepared it at the same moment. The service sent nothing.",
      action: "Go on with the other call's answer, or prepare again.",
    },
    otp_required: {
      when: "No code was sent, and the caller is no API key that may do without (`otp: exempt`, within its daily cap).",
      action: "POST /swap/request-otp with `quoteId`, then send the code as `otp`.",
    },
    invalid_signature: APPROVAL.invalid_signature,
    insufficient_balance: PAYMENT_FUNDS,
    provider_error: CHAIN_PROVIDER,
  },
  executeSwap: {
    invalid_state: {
      when: "The quote is not prepared, was cancelled or prepared again, or needs votes that somebody else must ask for. Nothing was sent.",
      action: "POST /swap/prepare, then execute its answer.",
    },
    otp_required: {
      when: "The key's daily cap was reached since prepare, or the policies ask for a code. Nothing was sent.",
      action: "POST /swap/request-otp, prepare with the code, and execute again.",
    },
    invalid_signature: {
      when: "A signature or transaction hash does not belong to the `actions` that prepare named; `details` names each.",
      action: "Sign or send what prepare named, and execute again within the price lock.",
    },
    insufficient_balance: PAYMENT_FUNDS,
  },
  cancelTransfer: {
    invalid_state: {
      when: "Its wallet has sent a transaction, or it was prepared at the same moment. Nothing was changed.",
      action: "Read the transfer; execute it with the hash, or cancel again.",
    },
  },
  swapAndTransfer: {
    invalid_state: {
      when: "The wallet's balance changes with every try, or votes are needed that this payment cannot wait for. Nothing was sent.",
      action: "Send it again; make one payment for each wallet where votes are needed.",
    },
    insufficient_balance: PAYMENT_FUNDS,
    provider_error: CHAIN_PROVIDER,
  },
};
