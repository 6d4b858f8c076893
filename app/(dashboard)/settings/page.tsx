import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ProfileSettings } from "@/components/features/profile/settings";

export const metadata: Metadata = { title: "Settings" };

const Page = (): ReactNode => <ProfileSettings />;

export default Page;
