"use client";

const KEY = "causeway.invitation";

/** Keeps the token of the opened link in this tab, through a sign-in. */
export const keepInvitationToken = (token: string): void => window.sessionStorage.setItem(KEY, token);

export const readInvitationToken = (): string | null => window.sessionStorage.getItem(KEY);

export const forgetInvitationToken = (): void => window.sessionStorage.removeItem(KEY);
