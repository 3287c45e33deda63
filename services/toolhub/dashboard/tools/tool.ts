import { refresh, useObject } from '../api/client.ts';
import type { Schema } from './schema.ts';

export type ToolClass = 'R' | 'W' | 'I' | 'U' | 'D';

export interface Tool {
  name: string;
  title: string;
  description: string;
  platform: string | null;
  class: ToolClass;
  enabled: boolean;
  switched_on: boolean;
  platform_enabled: boolean;
}

export interface ToolDetail extends Tool {
  input_schema: Schema;
  output_schema: Schema;
}

export interface ToolCatalogue {
  data: Tool[];
  platforms: { platform: string; title: string; enabled: boolean }[];
}

export const TOOLS_PATH = '/api/tools';

export const useTools = () => useObject<ToolCatalogue>(TOOLS_PATH);
export const useTool = (name: string) => useObject<ToolDetail>(`${TOOLS_PATH}/${encodeURIComponent(name)}`);
export const refreshTools = () => refresh(TOOLS_PATH);
