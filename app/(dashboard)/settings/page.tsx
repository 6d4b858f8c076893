import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Settings } from "@/components/features/profile/settings";

export const metadata: Metadata = { title: "Settings" };

const Page = (): ReactNode => <Settings />;

export default Page;
