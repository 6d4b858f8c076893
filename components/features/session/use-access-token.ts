"use client";

import { useSession } from "next-auth/react";

/** The access token that next-auth keeps in the session; null while signed out. */
export const useAccessToken = (): string | null => useSession().data?.accessToken ?? null;
