"use client";

import { useEffect, type ReactNode } from "react";
import { keepInvitationToken } from "./invitation-token";

/**
 * The page of the mailed link. The token stands behind the #, which a redirect to the sign-in page would lose, so it is kept in
 * the tab first.
 */
export const OpenInvitation = (): ReactNode => {
  useEffect(() => {
    keepInvitationToken(window.location.hash.slice(1));
    window.location.replace("/accept-invitation");
  }, []);
  return <p className="p-6 text-fg-2">Opening the invitation …</p>;
};
