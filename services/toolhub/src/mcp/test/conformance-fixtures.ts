// What the conformance suite wants to find on a server, word by word as its scenarios describe it.
import { setTimeout as pause } from 'node:timers/promises';
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { ServerExtension } from '../sdk-path.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const states = createRequestStateCodec({ key: 'a key for the fixtures of the suite' });

type Outcome = CallToolResult | InputRequiredResult;
type Run = (args: Record<string, unknown>, context: ServerContext) => Outcome | Promise<Outcome>;

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };

const askFor = (message: string, field: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] },
  });
const askToConfirm = () =>
  inputRequired.elicit({
    message: 'Please confirm',
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  });
const askModel = (question: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  });

function declared(context: ServerContext): Record<string, unknown> {
  const envelope = (context.mcpReq.envelope ?? {}) as Record<string, unknown>;
  return (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as Record<string, unknown>;
}

async function logSteps(context: ServerContext, steps: readonly string[]): Promise<CallToolResult> {
  for (const [index, step] of steps.entries()) {
    if (index > 0) await pause(50);
    await context.mcpReq.log('info', step);
  }
  return text('Logged.');
}

async function reportProgress(context: ServerContext): Promise<CallToolResult> {
  const progressToken = context.mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined)
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100 },
      });
    await pause(50);
  }
  return text('Reported.');
}

/** Asks once and is satisfied by any accepted answer that fits. */
function askName(context: ServerContext): Outcome {
  const name = acceptedContent(context.mcpReq.inputResponses, 'user_name')?.name;
  if (typeof name === 'string') return text(`Hello, ${name}!`);
  return inputRequired({ inputRequests: { user_name: askFor('What is your name?', 'name') } });
}

function askCapital(context: ServerContext): Outcome {
  const answer = inputResponse(context.mcpReq.inputResponses, 'capital_question');
  if (answer.kind === 'sampling') return text(JSON.stringify(answer.result.content));
  return inputRequired({
    inputRequests: { capital_question: askModel('What is the capital of France?', 100) },
  });
}

function askRoots(context: ServerContext): Outcome {
  const answer = inputResponse(context.mcpReq.inputResponses, 'client_roots');
  if (answer.kind === 'roots') return text(`Roots: ${answer.roots.map(({ uri }) => uri).join(', ')}`);
  return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
}

async function askWithState(context: ServerContext): Promise<Outcome> {
  const state = context.mcpReq.requestState<{ asked: boolean }>();
  if (state?.asked === true && context.mcpReq.inputResponses?.confirm !== undefined) return text('state-ok');
  return inputRequired({
    inputRequests: { confirm: askToConfirm() },
    requestState: await states.mint({ asked: true }),
  });
}

async function askThreeThings(context: ServerContext): Promise<Outcome> {
  const answers = context.mcpReq.inputResponses ?? {};
  if (['user_name', 'greeting', 'client_roots'].every((key) => key in answers)) return text('All answered.');
  return inputRequired({
    inputRequests: {
      user_name: askFor('What is your name?', 'name'),
      greeting: askModel('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    },
    requestState: await states.mint({ step: 1 }),
  });
}

async function askInRounds(context: ServerContext): Promise<Outcome> {
  const answers = context.mcpReq.inputResponses ?? {};
  const state = context.mcpReq.requestState<{ step: number; name?: unknown }>();
  const name = acceptedContent(answers, 'step1')?.name ?? state?.name;
  const color = acceptedContent(answers, 'step2')?.color;
  if (name !== undefined && color !== undefined) return text(`${name} likes ${color}.`);
  if (name === undefined)
    return inputRequired({
      inputRequests: { step1: askFor('Step 1: What is your name?', 'name') },
      requestState: await states.mint({ step: 1 }),
    });
  return inputRequired({
    inputRequests: { step2: askFor('Step 2: What is your favorite color?', 'color') },
    requestState: await states.mint({ step: 2, name }),
  });
}

function askWhatIsDeclared(context: ServerContext): Outcome {
  const can = declared(context);
  return inputRequired({
    inputRequests: {
      ...('elicitation' in can ? { user_name: askFor('What is your name?', 'name') } : {}),
      ...('sampling' in can ? { capital_question: askModel('What is the capital of France?', 100) } : {}),
    },
  });
}

const enumSchemas = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: {
    type: 'string',
    oneOf: [1, 2, 3].map((n) => ({ const: `value${n}`, title: ['First', 'Second', 'Third'][n - 1] })),
  },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: {
    type: 'array',
    items: {
      anyOf: [1, 2, 3].map((n) => ({ const: `value${n}`, title: ['First', 'Second', 'Third'][n - 1] })),
    },
  },
};

const defaultsSchema = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

async function elicit(context: ServerContext, message: string, properties: object): Promise<CallToolResult> {
  const params = { message, requestedSchema: { type: 'object', properties } } as Parameters<
    ServerContext['mcpReq']['elicitInput']
  >[0];
  const { action, content } = await context.mcpReq.elicitInput(params);
  return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const runs: Record<string, Run> = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }),
  test_error_handling: () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  }),
  test_tool_with_logging: (_args, context) =>
    logSteps(context, ['Tool execution started', 'Tool processing data', 'Tool execution completed']),
  test_logging_tool: (_args, context) => logSteps(context, ['one line']),
  test_tool_with_progress: (_args, context) => reportProgress(context),
  test_sampling: async ({ prompt }, context) => {
    const { content } = await context.mcpReq.requestSampling({
      messages: [{ role: 'user', content: { type: 'text', text: String(prompt) } }],
      maxTokens: 100,
    });
    return text(`LLM response: ${'text' in content ? content.text : ''}`);
  },
  test_elicitation: ({ message }, context) =>
    elicit(context, String(message), { username: { type: 'string' }, email: { type: 'string' } }),
  test_elicitation_sep1034_defaults: (_args, context) => elicit(context, 'Defaults', defaultsSchema),
  test_elicitation_sep1330_enums: (_args, context) => elicit(context, 'Choices', enumSchemas),
  test_missing_capability: (_args, context) => {
    if ('sampling' in declared(context)) return text('It is there.');
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  },
  test_streaming_elicitation: (_args, context) => askName(context),
  test_input_required_result_elicitation: (_args, context) => askName(context),
  test_input_required_result_sampling: (_args, context) => askCapital(context),
  test_input_required_result_list_roots: (_args, context) => askRoots(context),
  test_input_required_result_request_state: (_args, context) => askWithState(context),
  test_input_required_result_tampered_state: (_args, context) => askWithState(context),
  test_input_required_result_multiple_inputs: (_args, context) => askThreeThings(context),
  test_input_required_result_multi_round: (_args, context) => askInRounds(context),
  test_input_required_result_capabilities: (_args, context) => askWhatIsDeclared(context),
};

/** Asks for every keyword of the newer schema dialect, which a server has to hand on untouched. */
const dialectTool: Tool = {
  name: 'json_schema_2020_12_tool',
  description: 'Tool with JSON Schema 2020-12 features',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
};

const tools: Tool[] = [
  ...Object.keys(runs).map((name) => ({
    name,
    description: `Fixture ${name}.`,
    inputSchema: { type: 'object' as const, properties: {} },
  })),
  dialectTool,
];

const promptNames: Record<string, readonly string[]> = {
  test_simple_prompt: [],
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
  test_prompt_with_image: [],
  test_input_required_result_prompt: [],
};

const user = (content: GetPromptResult['messages'][number]['content']) => ({
  role: 'user' as const,
  content,
});

function getPrompt(
  name: string,
  args: Record<string, string>,
  context: ServerContext,
): GetPromptResult | InputRequiredResult {
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [user({ type: 'text', text: 'This is a simple prompt for testing.' })] };
    case 'test_prompt_with_arguments': {
      const line = `Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`;
      return { messages: [user({ type: 'text', text: line })] };
    }
    case 'test_prompt_with_embedded_resource': {
      const resource = {
        uri: args.resourceUri ?? '',
        mimeType: 'text/plain',
        text: 'Embedded resource content for testing.',
      };
      const line = 'Please process the embedded resource above.';
      return { messages: [user({ type: 'resource', resource }), user({ type: 'text', text: line })] };
    }
    case 'test_prompt_with_image':
      return { messages: [user(image), user({ type: 'text', text: 'Please analyze the image above.' })] };
    case 'test_input_required_result_prompt': {
      const value = acceptedContent(context.mcpReq.inputResponses, 'user_context')?.context;
      if (typeof value === 'string') return { messages: [user({ type: 'text', text: `Context: ${value}` })] };
      return inputRequired({
        inputRequests: { user_context: askFor('What context should the prompt use?', 'context') },
      });
    }
    default:
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}`);
  }
}

const resources = [
  { uri: 'test://static-text', name: 'Static text', description: 'A text.', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'Static binary', description: 'A picture.', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'Watched', description: 'A text.', mimeType: 'text/plain' },
];

function readResource(uri: string) {
  if (uri === 'test://static-text' || uri === 'test://watched-resource')
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PNG };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri });
  const data = { id, templateTest: true, data: `Data for ID: ${id}` };
  return { uri, mimeType: 'application/json', text: JSON.stringify(data) };
}

function extend(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(promptNames).map(([name, names]) => ({
      name,
      description: `Fixture ${name}.`,
      arguments: names.map((argument) => ({ name: argument, description: argument, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    getPrompt(params.name, params.arguments ?? {}, context),
  );
  server.setRequestHandler('resources/list', () => ({ resources }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'Template',
        description: 'Data by id.',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler('resources/read', ({ params }) => ({ contents: [readResource(params.uri)] }));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
  }));
}

export const conformanceFixtures: ServerExtension = {
  options: {
    capabilities: { prompts: {}, resources: {}, completions: {}, logging: {} },
    requestState: { verify: states.verify },
  },
  tools,
  async callTool({ name, arguments: args = {} }, context) {
    const run = runs[name];
    return run === undefined ? text('Nothing to do.') : run(args, context);
  },
  extend,
};
