const KEY = "causeway.invitation";

/** Stores the token in this tab, so that it survives a sign-in. */
export const keepInvitationToken = (token: string): void =>
  window.sessionStorage.setItem(KEY, token);

export const readInvitationToken = (): string | null => window.sessionStorage.getItem(KEY);

export const forgetInvitationToken = (): void => window.sessionStorage.removeItem(KEY);
